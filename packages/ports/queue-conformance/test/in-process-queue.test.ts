import { FakeClock } from '@tranche/clock'
import { createInProcessQueue } from '@tranche/queue'
import { describeJobQueue } from '@tranche/queue-conformance'

describeJobQueue('the in-process queue', async () => {
  const clock = new FakeClock()
  const queue = createInProcessQueue({ clock })
  return {
    producer: queue,
    consumer: queue,
    advance: (ms) => clock.advanceAsync(ms),
    settle: () => clock.advanceAsync(0),
    latenessMs: 0,
    retryWithinMs: 400,
    dispose: () => queue.close(0),
  }
})
