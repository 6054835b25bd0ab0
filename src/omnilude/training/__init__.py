"""Training: self-play, targets, replay, learner, in a run folder that survives `kill -9`.

`loop.train` is the way in; `settings.TrainingSettings` has every switch.
"""
