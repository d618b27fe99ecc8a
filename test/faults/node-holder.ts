import { isAlreadyExists, isConflict, isNotFound, resourcePaths } from '@tranche/kube-client'
import type { Lease, Node } from '@tranche/kube-types'
import { pickByName } from './draw.ts'
import { type ClusterOperation, NODE_LEASES } from './schedule.ts'
import { durationText } from './words.ts'
import type { World } from './world.ts'

type Hold = Extract<ClusterOperation, { readonly kind: 'holdNode' }>

/** Takes the Lease of a node for a while, as a program that maintains nodes: never one that is held, and only as long as it is its own. */
export async function holdNode(world: World, operation: Hold): Promise<void> {
  const { people } = world
  const node = pickByName((await people.list<Node>(resourcePaths.nodes)).items, operation.pick)?.metadata.name
  if (node === undefined) return
  const holder = `maintenance-${operation.pick}`
  const key = { namespace: NODE_LEASES, name: `node-${node}` }
  if (!(await writeLease(world, { ...operation, key, holder }))) return world.note(`the Lease of ${node} has another holder`)
  const kept = operation.crashes ? `, and dies` : ` for ${durationText(operation.forMs)}`
  world.note(`another program takes the Lease of ${node} for ${operation.seconds} s${kept}`)
  if (operation.crashes) return
  const renew = (leftMs: number): void => {
    const stepMs = Math.min(leftMs, operation.seconds * 500)
    world.later(stepMs, async () => {
      if (world.isHealing() || leftMs <= stepMs) return giveBack()
      if (await writeLease(world, { ...operation, key, holder })) renew(leftMs - stepMs)
    })
  }
  async function giveBack(): Promise<void> {
    const lease = await leaseAt(world, key)
    if (lease?.spec?.holderIdentity !== holder) return
    const { uid, resourceVersion } = lease.metadata
    await people.delete(resourcePaths.leases, key, { preconditions: { uid, resourceVersion } }).catch(unlessLost)
  }
  renew(operation.forMs)
}

interface Holding {
  readonly key: { readonly namespace: string; readonly name: string }
  readonly holder: string
  readonly seconds: number
}

/** @returns whether the Lease is the holder's */
async function writeLease(world: World, { key, holder, seconds }: Holding): Promise<boolean> {
  const { people } = world
  const lease = await leaseAt(world, key)
  const nowMs = world.serverNowMs()
  const now = new Date(nowMs).toISOString().replace('Z', '000Z')
  const { renewTime = '', leaseDurationSeconds = 0, holderIdentity } = lease?.spec ?? {}
  const renewedMs = Date.parse(renewTime)
  const isHeld = renewedMs <= nowMs && nowMs <= renewedMs + leaseDurationSeconds * 1_000
  if (isHeld && holderIdentity !== holder) return false
  const acquireTime = isHeld ? (lease?.spec?.acquireTime ?? now) : now
  const spec = { holderIdentity: holder, leaseDurationSeconds: seconds, acquireTime, renewTime: now, leaseTransitions: 0 }
  try {
    if (lease === null)
      await people.create(resourcePaths.leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: key, spec })
    else await people.update(resourcePaths.leases, { ...lease, spec })
    return true
  } catch (error) {
    unlessLost(error)
    return false
  }
}

/** @returns null without a Lease */
async function leaseAt({ people }: World, key: Holding['key']): Promise<Lease | null> {
  try {
    return await people.get<Lease>(resourcePaths.leases, key)
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}

/** @throws the error, unless another program has written or deleted the Lease meanwhile */
function unlessLost(error: unknown): void {
  if (!isAlreadyExists(error) && !isConflict(error) && !isNotFound(error)) throw error
}
