import type { NodeReport, RevisionRole, RolloutReport } from '@tranche/api-schema'
import { versionOf } from '../../format/image-change.ts'

/** What the role of a revision means for a node. */
export const roleWords: Readonly<Record<RevisionRole, string>> = {
  canary: 'new version (canary)',
  stable: 'previous version (stable)',
  superseded: 'version of a superseded release',
  none: 'neither the new nor the previous version',
}

/** @returns the image versions that a node runs; undefined if the report does not have the images of its revision */
export function versionsOn({ role }: Pick<NodeReport, 'role'>, { images, stableImages }: RolloutReport): string | undefined {
  const known = role === 'canary' ? images : role === 'stable' ? stableImages : undefined
  return known === undefined || known.length === 0 ? undefined : known.map(versionOf).join(', ')
}

/** Names that need no quoting in a shell. */
const PLAIN_NAME = /^[a-z0-9][a-z0-9.-]*$/

/** @returns commands that show what Tranche's API does not have: events and logs of the pod, or events of the node */
export function inspectCommands(namespace: string, node: string, report: NodeReport | undefined): readonly string[] {
  const { pod, restarts = 0 } = report ?? {}
  if (![namespace, node, pod ?? node].every((name) => PLAIN_NAME.test(name))) return []
  if (pod === undefined) return [`kubectl describe node ${node}`]
  return [
    `kubectl describe pod ${pod} --namespace ${namespace}`,
    `kubectl logs ${pod} --namespace ${namespace} --all-containers${restarts > 0 ? ' --previous' : ''}`,
  ]
}
