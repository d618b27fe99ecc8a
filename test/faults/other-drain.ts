import { resourcePaths } from '@tranche/kube-client'
import { DRAIN_CONDITION, type Node } from '@tranche/kube-types'
import { pickByName } from './draw.ts'
import type { ClusterOperation } from './schedule.ts'
import { durationText } from './words.ts'
import type { World } from './world.ts'

/** Reason of the condition of the other program. */
export const OTHER_REASON = 'NodeMaintenance'

/** Sets the condition of a drain for a while, as another program, which takes over that of an executor. */
export async function drainByOther(world: World, operation: Extract<ClusterOperation, { readonly kind: 'drainByOther' }>): Promise<void> {
  const { people } = world
  const name = pickByName((await people.list<Node>(resourcePaths.nodes)).items, operation.pick)?.metadata.name
  if (name === undefined) return
  const key = { namespace: '', name }
  const write = (condition: object): Promise<unknown> => {
    const body = { status: { conditions: [{ type: DRAIN_CONDITION, ...condition }] } }
    return people.patch(resourcePaths.nodes, key, { type: 'strategic', body }, { subresource: 'status' })
  }
  world.note(`another program drains node ${name} for ${durationText(operation.forMs)}`)
  await write({ status: 'True', reason: OTHER_REASON, message: 'broken fan' })
  world.later(operation.forMs, async () => {
    const { status } = await people.get<Node>(resourcePaths.nodes, key)
    if (status?.conditions?.find(({ type }) => type === DRAIN_CONDITION)?.reason !== OTHER_REASON) return
    world.note(`the other program has drained node ${name}`)
    await write(operation.leaves === 'nothing' ? { $patch: 'delete' } : { status: 'False' })
  })
}
