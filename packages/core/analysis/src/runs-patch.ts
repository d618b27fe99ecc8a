import type { AnalysisRun, BatchRelease } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/fence'

/**
 * JSON Patch that writes the runs and tests those that were read, so that measurements of two controllers count once. Changed runs
 * are replaced one by one. The first write tests the resourceVersion, because no runs exist yet.
 */
export function runsPatch(release: BatchRelease, runs: readonly AnalysisRun[]): readonly PatchOperation[] {
  const before = release.status?.analysis
  const same: PatchOperation = { op: 'test', path: '/metadata/uid', value: release.metadata.uid }
  if (before === undefined) {
    const asRead: PatchOperation = { op: 'test', path: '/metadata/resourceVersion', value: release.metadata.resourceVersion }
    return [same, asRead, { op: 'add', path: '/status/analysis', value: runs }]
  }
  if (!isSameList(before, runs))
    return [same, { op: 'test', path: '/status/analysis', value: before }, { op: 'add', path: '/status/analysis', value: runs }]
  return [same, ...runs.flatMap((run, at) => (run === before[at] ? [] : replacing(`/status/analysis/${at}`, before[at], run)))]
}

function replacing(path: string, before: AnalysisRun | undefined, run: AnalysisRun): readonly PatchOperation[] {
  return [
    { op: 'test', path, value: before },
    { op: 'replace', path, value: run },
  ]
}

function isSameList(before: readonly AnalysisRun[], runs: readonly AnalysisRun[]): boolean {
  const isSame = (run: AnalysisRun, at: number): boolean =>
    run.name === before[at]?.name && run.step === before[at].step && run.startedAt === before[at].startedAt
  return before.length === runs.length && runs.every(isSame)
}
