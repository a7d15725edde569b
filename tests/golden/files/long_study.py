"""Gives the only study of a store as many trials as said, all but for their numbers and losses like its first."""
import sqlite3
import sys

store, trials = sys.argv[1], int(sys.argv[2])
with sqlite3.connect(store) as connection:
    study, *columns, row = connection.execute(
        "SELECT study, state, created_at, ended_at, failure, message, row FROM trials WHERE number = 1").fetchone()
    for number in range(2, trials + 1):
        changed = row.replace('"number":1,', f'"number":{number},').replace('"loss":3.0', f'"loss":{number}.0')
        connection.execute("INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (study, number, *columns, changed))
        connection.execute("INSERT INTO trial_metrics VALUES (?, 'loss', ?, ?)", (study, number, number))
