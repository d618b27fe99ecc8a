import { createHash, hkdfSync } from 'node:crypto'
import type { Clock } from '@tranche/clock'
import { EncryptJWT, errors, jwtDecrypt, type JWTPayload } from 'jose'

/** Encrypts and authenticates values (JWE with A256GCM). */
export interface Seal {
  /** @param seconds lifetime, in seconds */
  close(purpose: string, claims: JWTPayload, seconds: number): Promise<string>
  /** @returns null if the value is malformed, expired, encrypted with another key, or for another purpose */
  open(purpose: string, sealed: string): Promise<JWTPayload | null>
}

/** @param secrets each of 32 characters or more; the first one encrypts, all decrypt */
export function createSeal(secrets: readonly string[], issuer: string, clock: Clock): Seal {
  const keys = new Map(secrets.map((secret) => [idOf(secret), new Uint8Array(hkdfSync('sha256', secret, '', 'tranche session', 32))]))
  const [first] = keys
  if (first === undefined) throw new Error('there is no key to seal with')
  const [kid, key] = first
  return {
    close(purpose, claims, seconds) {
      const now = Math.floor(clock.nowMs() / 1000)
      const sealed = new EncryptJWT(claims).setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid }).setIssuer(issuer).setAudience(purpose)
      return sealed
        .setIssuedAt(now)
        .setExpirationTime(now + seconds)
        .encrypt(key)
    },
    async open(purpose, sealed) {
      try {
        const { payload } = await jwtDecrypt(sealed, ({ kid: by }) => keys.get(by ?? '') ?? key, {
          issuer,
          audience: purpose,
          requiredClaims: ['exp', 'iat'],
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
          currentDate: new Date(clock.nowMs()),
        })
        return payload
      } catch (error) {
        if (error instanceof errors.JOSEError) return null
        throw error
      }
    },
  }
}

function idOf(secret: string): string {
  return createHash('sha256').update(`id ${secret}`).digest('base64url').slice(0, 8)
}
