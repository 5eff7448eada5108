"""What the adapters to other libraries share: names for codes, dicts for rows, a model that stays in a live session."""
