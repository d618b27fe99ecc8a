import type { Clock } from '@tranche/clock'
import type { ClusterAccess, Credentials } from '../exchange/undici-exchange.ts'

/** Dependencies of {@link createCredentialSource}. */
export interface CredentialFiles {
  readonly clock: Clock
  /** Reads the current credentials, using the kubeconfig as already read. */
  readonly read: () => Promise<Credentials>
  /** Reads kubeconfig and credentials from scratch, and asks plugins and providers for new ones. */
  readonly reload: () => Promise<Credentials>
}

/** Interval at which tokens and certificates are reread, in milliseconds: they rotate while the process runs. */
const LOOK_AGAIN_MS = 10_000

/**
 * @returns the two ways to get credentials. Concurrent callers share one answer, failures are not cached, and a full reload happens at most
 *   once in {@link LOOK_AGAIN_MS}, however often a server rejects the credentials
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
