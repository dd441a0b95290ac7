"""What is asked for: a job, its surroundings, and what two of them differ in."""
