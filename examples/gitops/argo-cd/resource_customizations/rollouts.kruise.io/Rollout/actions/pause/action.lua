-- Stops the release, the batch in flight too.
obj.spec.strategy.paused = true
return obj
