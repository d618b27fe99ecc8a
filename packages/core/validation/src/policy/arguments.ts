/**
 * What every analysis can put into query, url and body by `{{name}}`, and name as `args.name` in a condition, beside its own
 * `args`. All are text; `nodes` are the updated nodes, by name, joined by `|`.
 */
export const analysisArguments = [
  'namespace',
  'rollout',
  'daemonSet',
  'release',
  'canaryRevision',
  'stableRevision',
  'stepIndex',
  'nodes',
] as const
/** @see analysisArguments */
export type AnalysisArgument = (typeof analysisArguments)[number]
