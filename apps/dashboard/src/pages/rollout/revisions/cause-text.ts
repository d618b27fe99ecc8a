import type { RevisionReport } from '@tranche/api-schema'

/** @returns why a revision exists: the pinned config that it changes, then its change cause; a dash without either */
export function causeText({ changedConfig = [], changeCause = '' }: RevisionReport): string {
  return [changedConfig.join(', '), changeCause].filter((text) => text !== '').join('; ') || '–'
}
