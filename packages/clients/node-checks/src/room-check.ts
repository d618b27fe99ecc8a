import { createRoomReader } from '@tranche/cluster'
import type { Clock } from '@tranche/clock'
import type { NodeCheck } from '@tranche/fence'
import { isForbidden, type KubeClient } from '@tranche/kube-client'
import { keyOf, keyText } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import { blocked, type Check, type CheckTarget } from './check.ts'

/** Dependencies of {@link createRoomCheck}. */
export interface RoomParts {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  /** Whether the installation allows policies to check room. */
  readonly isAllowed: boolean
}

/**
 * Checks that a node has room for the new pod once the old one is gone (`nodes.room: Check`). It does nothing on nodes. A node whose room
 * cannot be read keeps its pod.
 */
export function createRoomCheck({ client, clock, log, isAllowed }: RoomParts): Check {
  const rooms = createRoomReader(client, clock)
  return {
    name: 'room',
    rules: () => undefined,
    preparations: () => [],
    async check(target, { node, purpose }, signal) {
      if (target.release.spec.tranche?.nodes?.room !== 'Check' || purpose === 'ahead') return null
      return isAllowed ? readRoom(target, node, signal) : NOT_ALLOWED
    },
    undo: async () => {},
    sweep: async () => {},
  }

  async function readRoom({ daemonSet }: CheckTarget, node: string, signal: AbortSignal): Promise<NodeCheck> {
    try {
      const shortage = await rooms.read(daemonSet, node, signal)
      return shortage === null ? { kind: 'ready', for: 'deletion' } : blocked('NoRoom', shortage)
    } catch (error) {
      if (signal.aborted) throw error
      log.warn({ daemonSet: keyText(keyOf(daemonSet)), node, err: error }, 'could not read room on node')
      const message = `cannot read whether there is room: ${error instanceof Error ? error.message : String(error)}`
      return blocked(isForbidden(error) ? 'RoomNotAllowed' : 'RoomUnread', message)
    }
  }
}

const NOT_ALLOWED = blocked('RoomNotAllowed', 'policies may not check room: rbac.room of the chart is false')
