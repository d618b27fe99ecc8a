import { createRoomReader } from '@tranche/cluster'
import type { Clock } from '@tranche/clock'
import type { KubeClient } from '@tranche/kube-client'
import { type DaemonSet, keyOf, keyText } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import { blocked, type Check } from './check.ts'

/**
 * Checks that a node has room for the new pod once the old one is gone (`nodes.room: Check`). It does nothing on nodes. A node whose room
 * cannot be read counts as one without room.
 */
export function createRoomCheck(client: KubeClient, clock: Clock, log: Logger): Check {
  const rooms = createRoomReader(client, clock)
  return {
    name: 'room',
    rules: () => undefined,
    preparations: () => [],
    async check({ daemonSet, release }, { node, purpose }, signal) {
      if (release.spec.tranche?.nodes?.room !== 'Check' || purpose === 'ahead') return null
      const shortage = await readRoom(daemonSet, node, signal)
      return shortage === null ? { kind: 'ready', for: 'deletion' } : blocked('NoRoom', shortage)
    },
    undo: async () => {},
    sweep: async () => {},
  }

  async function readRoom(daemonSet: DaemonSet, node: string, signal: AbortSignal): Promise<string | null> {
    try {
      return await rooms.read(daemonSet, node, signal)
    } catch (error) {
      if (signal.aborted) throw error
      log.warn({ daemonSet: keyText(keyOf(daemonSet)), node, err: error }, 'could not read room on node')
      return `cannot read whether there is room: ${error instanceof Error ? error.message : String(error)}`
    }
  }
}
