/** A process that runs one seed at a time: it receives `{seed}` with options, and sends a {@link SeedResult} or `{seed, error}`. */
import { runSeed, type SeedOptions } from './run-seed.ts'

process.on('message', (order: SeedOptions & { readonly seed: number }) => {
  runSeed(order.seed, order).then(
    (result) => process.send?.(result),
    (error: unknown) =>
      process.send?.({ seed: order.seed, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
})
