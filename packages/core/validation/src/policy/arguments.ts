/**
 * Built-in arguments of every analysis: `{{name}}` in query, url and body, and `args.name` in a condition. All are text;
 * `nodes` has the names of the updated nodes, joined by `|`.
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
