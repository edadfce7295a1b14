"""Judges held against people: the sample, the sheet, the labels, and the rates corrected by them."""
