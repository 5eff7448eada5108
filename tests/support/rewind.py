"""One compiled model for several runs of a test: a model that goes back to where it began."""


class Rewindable:
    """Remembers everything that learning moves; `rewind` gives the model as it was then."""

    def __init__(self, model, num_features):
        self.model = model
        model.make_sure_it_is_compiled()
        model.build_for(num_features)
        progress = model.progress
        self.variables = [*model.moving(), *progress.saved.values(), *progress.prequential.variables]
        self.start = [variable.numpy() for variable in self.variables]

    def rewind(self):
        for variable, value in zip(self.variables, self.start, strict=True):
            variable.assign(value)
        record = self.model.gradient_record
        record.rows, record.steps, record.num_samples = [], [], 0
        return self.model
