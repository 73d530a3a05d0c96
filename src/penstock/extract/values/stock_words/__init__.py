"""The words for stock and buying: one entry for each language, in the module of its family.

To add a language, write a `StockWords` for it there: `words` says what each list is for, and the
type checker which ones it must have. Then give it a line in the table of `test_stock`. A family
with a module of its own is named once, in `languages`.
"""
