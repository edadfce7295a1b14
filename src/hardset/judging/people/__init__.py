"""Judges held against people: the sample, the sheet, the labels, the rates corrected by them."""
