import { type Collection, type ExistingCopy, garbageOf, pinKey, type PinView } from '@tranche/config'
import { type DaemonSet, keyOf, keyText } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import type { PinPort } from './pin-port.ts'

/** Copies to collect, and what that rests on. */
export interface Collecting {
  readonly daemonSet: DaemonSet
  readonly view: PinView
  readonly collection: Collection
  /** Name of the BatchRelease, which may keep a template that the history lost. */
  readonly release: string
}

/**
 * Marks copies that nothing names, and deletes those that were marked before. A copy for which that fails keeps no other one: it may belong to
 * any user who may create objects.
 *
 * @returns whether something was written
 * @throws the signal's reason once it aborts, and nothing else
 */
export async function collectCopies(port: PinPort, on: Collecting, signal: AbortSignal, log: Logger): Promise<boolean> {
  const { daemonSet, collection } = on
  const fields = { daemonSet: keyText(keyOf(daemonSet)) }
  let written = 0
  async function attempt(copy: ExistingCopy | null, write: () => Promise<void>): Promise<void> {
    try {
      await write()
      written++
    } catch (error) {
      signal.throwIfAborted()
      log.warn({ ...fields, ...(copy !== null && { copy: pinKey(copy) }), err: error }, 'could not collect copies of config')
    }
  }
  for (const copy of collection.named) await attempt(copy, () => port.mark(daemonSet, copy, false, signal))
  for (const copy of collection.unused) await attempt(copy, () => port.mark(daemonSet, copy, true, signal))
  if (collection.marked.length === 0) return written > 0
  let unused: readonly ExistingCopy[] = []
  await attempt(null, async () => {
    unused = await stillUnused(port, on, signal)
  })
  for (const copy of unused) await attempt(copy, () => port.deleteCopy(daemonSet, copy, signal))
  return written > 0
}

/** Marked copies that nothing names after the DaemonSet was touched: a patch that could still name one fails from then on. */
async function stillUnused(port: PinPort, on: Collecting, signal: AbortSignal): Promise<readonly ExistingCopy[]> {
  const { daemonSet, view, collection, release } = on
  const live = { ...view, ...(await port.touch(daemonSet, release, signal)) }
  const marked = new Set(collection.marked.map(pinKey))
  return garbageOf(live).filter((copy) => marked.has(pinKey(copy)))
}
