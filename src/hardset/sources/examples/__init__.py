"""Labelled training sets, a file a layout: pictures and texts, read by position."""
