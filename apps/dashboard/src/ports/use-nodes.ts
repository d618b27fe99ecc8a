import type { ApiKey } from '@tranche/api-client'
import type { NodeReport } from '@tranche/api-schema'
import { useEffect, useSyncExternalStore } from 'react'
import { usePorts } from './dashboard-ports.ts'
import { textOfKey } from '../live/release-store.ts'

/** Shows the nodes of a Rollout while the calling part is on the screen. @returns them; undefined until the first list has arrived */
export function useNodes(key: ApiKey): ReadonlyMap<string, NodeReport> | undefined {
  const { nodes, showNodes } = usePorts()
  const { namespace, name } = key
  useEffect(() => {
    showNodes({ namespace, name })
    return () => showNodes(null)
  }, [showNodes, namespace, name])
  const snapshot = useSyncExternalStore(nodes.subscribe, nodes.snapshot)
  return snapshot.rollout === textOfKey(key) ? snapshot.nodes : undefined
}
