import type { Clock } from '@tranche/clock'
import type { ClusterAccess, Credentials } from './undici-exchange.ts'

/** What {@link createCredentialSource} reads from. */
export interface CredentialFiles {
  readonly clock: Clock
  /** Reads the credentials as they are now, from what is known of the kubeconfig. */
  readonly read: () => Promise<Credentials>
  /** Reads kubeconfig and credentials from the start, and asks plugins and providers for new ones. */
  readonly reload: () => Promise<Credentials>
}

/** Tokens and certificates are looked at again after this long, in milliseconds: they rotate while we run. */
const LOOK_AGAIN_MS = 10_000

/**
 * @returns the two ways to credentials. Those who ask at the same time share one answer, a failure is not remembered,
 * and the whole is read anew at most once in {@link LOOK_AGAIN_MS}, however often a server refuses us.
 */
export function createCredentialSource({ clock, read, reload }: CredentialFiles): Required<Pick<ClusterAccess, 'credentials' | 'renew'>> {
  let last: { readonly atMs: number; readonly answer: Promise<Credentials> } | undefined
  let renewedAtMs = -Infinity

  function ask(how: () => Promise<Credentials>): Promise<Credentials> {
    const asked = { atMs: clock.monotonicMs(), answer: how() }
    last = asked
    asked.answer.catch(() => {
      if (last === asked) last = undefined
    })
    return asked.answer
  }

  function credentials(): Promise<Credentials> {
    return last !== undefined && clock.monotonicMs() - last.atMs < LOOK_AGAIN_MS ? last.answer : ask(read)
  }

  async function renew(refused: Credentials): Promise<Credentials | null> {
    const known = await last?.answer.catch(() => undefined)
    if (known !== undefined && !areEqual(known, refused)) return known
    if (clock.monotonicMs() - renewedAtMs < LOOK_AGAIN_MS) return null
    renewedAtMs = clock.monotonicMs()
    const renewed = await ask(reload)
    return areEqual(renewed, refused) ? null : renewed
  }

  return { credentials, renew }
}

function areEqual(a: Credentials, b: Credentials): boolean {
  const isSame = a.ca === b.ca && a.cert === b.cert && a.key === b.key
  return isSame && JSON.stringify(Object.entries(a.headers).toSorted()) === JSON.stringify(Object.entries(b.headers).toSorted())
}
