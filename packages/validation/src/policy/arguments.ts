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

/** What the template of a receiver can name. All are text, empty where there is nothing to say. */
export const messageArguments = [
  'event',
  'message',
  'namespace',
  'rollout',
  'daemonSet',
  'policy',
  'canaryRevision',
  'stepIndex',
  'at',
  'id',
] as const
/** @see messageArguments */
export type MessageArgument = (typeof messageArguments)[number]
