the model
