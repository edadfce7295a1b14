"""Replies made elsewhere: what other programs' files hold, and whose replies they are."""
