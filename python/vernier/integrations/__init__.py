"""Callbacks for trainers, each in a module of its own that imports its framework:

    from vernier.integrations.keras import VernierCallback

    model.fit(x, y, validation_data=(u, v), epochs=50, callbacks=[VernierCallback("val_accuracy", trial=trial)])

``trial`` is the one that ``Study.optimize`` gives to ``train``; without it the callback reports as a program that
`vernier run` has started (``vernier.report``). Modules: keras, lightning, transformers, xgboost, lightgbm; sklearn has a search
with cross-validation.
"""
