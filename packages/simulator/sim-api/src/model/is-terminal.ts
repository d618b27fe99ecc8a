import type { ApiObject } from './client.ts'

/** Pod as served by the store, or of its own type. */
type SomePod = ApiObject | { readonly status?: { readonly phase?: string } }

/** @returns whether all containers of the pod have ended for good (phase `Succeeded` or `Failed`) */
export function isTerminal(pod: SomePod): boolean {
  const { phase } = (pod as { readonly status?: { readonly phase?: string } }).status ?? {}
  return phase === 'Succeeded' || phase === 'Failed'
}
