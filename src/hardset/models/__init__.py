"""Who answers: chat endpoints over HTTP, embedded models, baselines, plug-ins."""
