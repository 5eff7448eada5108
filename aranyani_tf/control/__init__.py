"""What moves λ, or the decisions, so that a gap stays at or below a target."""
