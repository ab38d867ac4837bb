"""The fixed texts of a task folder in Harbor's layout; ``$name`` marks what ``environment.py`` fills in.

``verify.py`` is the scorer that travels with the task: the standard library only, as root in the verifier's
own container. It must judge as ``gymline.programs.score`` does; a test runs both on the same submissions."""
