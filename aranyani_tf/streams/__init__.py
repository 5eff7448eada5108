"""Rows in the order in which they arrive: checked, cut into chunks, made of tables."""
