import type { NodeEvents, NodeReport, RevisionRole, RolloutReport } from '@tranche/api-schema'
import { imageVersion } from '../../format/image-change.ts'
import { shellCommand } from '../../format/shell-command.ts'

/** What the role of a revision means for a node. */
export const roleWords: Readonly<Record<RevisionRole, string>> = {
  canary: 'new version (canary)',
  stable: 'previous version (stable)',
  former: 'former version (stable once)',
  superseded: 'version of a superseded release',
  none: 'neither the new nor the previous version',
}

/** @returns the image versions that a node runs; undefined if the report does not have the images of its revision */
export function versionsOn({ role }: Pick<NodeReport, 'role'>, { images, stableImages }: RolloutReport): string | undefined {
  const known = role === 'canary' ? images : role === 'stable' ? stableImages : undefined
  return known === undefined || known.length === 0 ? undefined : known.map(imageVersion).join(', ')
}

/** @returns whose events are left out, and why, as a sentence */
export function omissionText({ of, lacks, permission }: NodeEvents['omitted'][number]): string {
  return `Events of the ${of} are left out: ${lacks === 'caller' ? 'you' : 'the account of the API'} may not ${permission}.`
}

/** @returns commands that show what Tranche's API does not have: the logs of the pod, and the details of pod or node */
export function inspectCommands(namespace: string, node: string, report: NodeReport | undefined): readonly string[] {
  const { pod, restarts = 0 } = report ?? {}
  if (pod === undefined) return [shellCommand(['kubectl', 'describe', 'node', node])]
  const logs = ['kubectl', 'logs', pod, '--namespace', namespace, '--all-containers', ...(restarts > 0 ? ['--previous'] : [])]
  return [['kubectl', 'describe', 'pod', pod, '--namespace', namespace], logs].map(shellCommand)
}
