import type { Question } from './reviews.ts'

/** Who may use a route. Every route states it; one that does not cannot be registered. */
export type Access =
  /** Anyone, without a token. `why` it tells nobody anything they may not know. */
  | { readonly kind: 'public'; readonly why: string }
  /** Whoever signs the message with a key that the route looks up; the route itself refuses all others. `why` they need no token. */
  | { readonly kind: 'signed'; readonly why: string }
  /** Whoever has a good token. `why` that is enough. */
  | { readonly kind: 'authenticated'; readonly why: string }
  /** Whoever has a good token; each item of the answer is checked by itself, and left out where the caller may not list it. */
  | { readonly kind: 'filtered' }
  /** Who may use the verb on the resource, in the `namespace` of the path and on the object named by its `name`. */
  | { readonly kind: 'resource'; readonly verb: string; readonly resource: keyof typeof accessResources }
  /** Who may use the verb on a path that is no resource. */
  | { readonly kind: 'path'; readonly verb: string; readonly path: string }

/** Resources that access is asked about. */
export const accessResources = {
  rollouts: { group: 'rollouts.kruise.io', resource: 'rollouts' },
  daemonsets: { group: 'apps', resource: 'daemonsets' },
} as const

/** @returns what the API server is asked; null where a good token is enough */
export function questionOf(access: Access, params: Readonly<Record<string, string | undefined>>): Question | null {
  if (access.kind === 'path') return { kind: 'path', verb: access.verb, path: access.path }
  if (access.kind !== 'resource') return null
  const { verb, resource } = access
  return { kind: 'resource', verb, ...accessResources[resource], namespace: params['namespace'] ?? '', name: params['name'] ?? '' }
}

/** @returns the question as a person would put it: `approve rollouts.kruise.io/rollouts "agent" in namespace "demo"` */
export function questionText(question: Question): string {
  if (question.kind === 'path') return `${question.verb} ${question.path}`
  const { verb, group, resource, namespace, name } = question
  const named = name === '' ? '' : ` ${JSON.stringify(name)}`
  return `${verb} ${resource}.${group}${named} ${namespace === '' ? 'in all namespaces' : `in namespace ${JSON.stringify(namespace)}`}`
}
