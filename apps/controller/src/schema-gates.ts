import { awaitChange, type Reconcile, recheckAfter } from '@tranche/reconcile'
import type { SchemaWatch } from './schema-watch.ts'

/** What keeps passes from acting on, or writing, objects that other definitions have cut. */
export interface SchemaGates {
  /** Decides only once the definitions are known under which this process reads. */
  readonly settledOnly: (reconcile: Reconcile) => Reconcile
  /** Does nothing while the API server drops fields of ours; a change of that wakes every key again. */
  readonly keptOnly: (reconcile: Reconcile) => Reconcile
}

/** How soon it is looked again whether the definitions are known, in milliseconds. */
const UNSETTLED_RECHECK_MS = 50

/** Builds the gates of a process. */
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
