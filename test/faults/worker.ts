/** A process that runs the seeds it is sent, one at a time: `{seed}` and options in, a {@link SeedResult} or `{seed, error}` out. */
import { runSeed, type SeedOptions } from './run-seed.ts'

process.on('message', (order: SeedOptions & { readonly seed: number }) => {
  runSeed(order.seed, order).then(
    (result) => process.send?.(result),
    (error: unknown) =>
      process.send?.({ seed: order.seed, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
})
