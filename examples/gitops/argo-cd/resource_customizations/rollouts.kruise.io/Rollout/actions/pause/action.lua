-- Stops the release, including the batch in flight.
obj.spec.strategy.paused = true
return obj
