import { awaitChange, type Reconcile, recheckAfter } from '@tranche/reconcile'
import type { SchemaWatch } from './schema-watch.ts'

/** Gates that prevent passes from acting on or writing objects whose fields other CRDs have dropped (F11). */
export interface SchemaGates {
  /** Runs the pass only once the CRDs of the current watches are known. */
  readonly settledOnly: (reconcile: Reconcile) => Reconcile
  /** Skips the pass while the API server drops our fields; every key is woken when that changes. */
  readonly keptOnly: (reconcile: Reconcile) => Reconcile
}

/** Delay before checking again whether the CRDs are known, in milliseconds. */
const UNSETTLED_RECHECK_MS = 50

/** Creates the gates of a process. */
export function createSchemaGates(schemas: Pick<SchemaWatch, 'gap' | 'settles'>): SchemaGates {
  const settledOnly =
    (reconcile: Reconcile): Reconcile =>
    async (key, signal, log) => {
      return (await schemas.settles()) ? reconcile(key, signal, log) : recheckAfter(UNSETTLED_RECHECK_MS)
    }
  return {
    settledOnly,
    keptOnly: (reconcile) =>
      settledOnly(async (key, signal, log) => (schemas.gap() === undefined ? reconcile(key, signal, log) : awaitChange)),
  }
}
