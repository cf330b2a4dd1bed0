"""What is asked: a cohort as arrays, the hyperparameters of its features, and the joint of any partition."""
