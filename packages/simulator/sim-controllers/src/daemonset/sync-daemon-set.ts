import { keyOf, keyText, parseKey, ownerKeyOf } from '@tranche/kube-types'
import { isStatus, resources } from '@tranche/sim-api'
import { hashOfRevision, planCleanup } from '../history/plan-history.ts'
import { isEmptySelector } from '../placement/requirements.ts'
import { createAdoptionCheck } from './adoption-check.ts'
import { claimPods } from './claim-pods.ts'
import { manage } from './manage.ts'
import type { Ledger } from './nodes/node-ledger.ts'
import type { Target } from './nodes/pod-template.ts'
import type { SyncPorts } from './sync-ports.ts'
import { update } from './update.ts'
import { writeHistory, type History } from './write-history.ts'
import { writeStatus } from './write-status.ts'

/**
 * One pass over one DaemonSet: history, placement, update, cleanup, status. Level-triggered: it reads the current state, not events.
 *
 * @throws error of a write; {@link StaleCacheError} while the cache lags behind this controller's own writes
 * @see reference: "One sync, in order"
 */
export async function syncDaemonSet(ports: SyncPorts, key: string): Promise<void> {
  const { cache, expectations } = ports
  ports.ownWrites.requireSeen(key, cache)
  const { namespace, name } = parseKey(key)
  const daemonSet = cache.daemonSets.get(name, namespace)
  if (daemonSet === undefined) return forget(ports, key)
  if (daemonSet.spec.selector !== undefined && isEmptySelector(daemonSet.spec.selector)) {
    const message = 'This daemon set is selecting all pods. A non-empty selector is required.'
    return ports.events.record(daemonSet, 'Warning', 'SelectingAll', message)
  }
  if (daemonSet.metadata.deletionTimestamp !== undefined) return

  const history = await writeHistory(ports, daemonSet)
  const target: Target = { daemonSet, hash: hashOfRevision(history.current) }
  const readLedger = ledgerReader(ports, target)
  if (!expectations.satisfied(key)) return writeStatus(ports, target, await readLedger(), undefined)

  const failure = await attempt(() => act({ ports, target, history, readLedger }))
  await readLedger()
    .then((ledger) => writeStatus(ports, target, ledger, daemonSet.metadata.generation))
    .catch((error: unknown) => {
      throw failure === undefined ? error : failure.error
    })
  if (failure !== undefined) throw failure.error
}

function forget({ expectations, ownWrites }: SyncPorts, key: string): void {
  expectations.forget(key)
  ownWrites.forget(key)
}

/** Each read claims pods first, because pods may have changed since the last one. */
function ledgerReader(ports: SyncPorts, target: Target): () => Promise<Ledger> {
  const mayAdopt = createAdoptionCheck(ports.client, target.daemonSet)
  const ledger = ports.cache.owned.ledgerOf(ownerKeyOf(target.daemonSet))
  const read = (): Ledger => ledger.read(target, ports.clock.nowMs())
  return async () => {
    const seen = read()
    const releases = [...seen.releases].flatMap((name) => seen.verdict(name)!.release)
    await claimPods(ports, target, mayAdopt, releases)
    return read()
  }
}

async function attempt(work: () => Promise<void>): Promise<{ readonly error: unknown } | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    return { error }
  }
}

interface Acting {
  readonly ports: SyncPorts
  readonly target: Target
  readonly history: History
  readonly readLedger: () => Promise<Ledger>
}

/** A pass that has placed pods has open expectations, and so updates none. */
async function act({ ports, target, history, readLedger }: Acting): Promise<void> {
  await manage(ports, target, await readLedger())
  if (ports.expectations.satisfied(keyText(keyOf(target.daemonSet)))) await update(ports, target, await readLedger())
  await cleanUp(ports, target, history)
}

async function cleanUp({ client, cache }: SyncPorts, { daemonSet }: Target, { old }: History): Promise<void> {
  const limit = daemonSet.spec.revisionHistoryLimit ?? 10
  if (old.length <= limit) return
  for (const { metadata } of planCleanup(old, limit, cache.owned.hashesOf(ownerKeyOf(daemonSet))))
    await client.delete(resources.controllerRevisions, metadata.name, metadata.namespace).catch((error: unknown) => {
      if (!isStatus(error, 404)) throw error
    })
}
