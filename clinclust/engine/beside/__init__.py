"""What is found beside the partition: features, outlying values, coarsening, hyperparameters, concentration."""
