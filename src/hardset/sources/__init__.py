"""Rows in: files, folders, and scenes drawn on demand."""
