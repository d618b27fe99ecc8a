/** Signatures as bundles of Sigstore, which cosign verifies. */
import { type SerializedBundle, bundleFromJSON, bundleToJSON } from '@sigstore/bundle'
import {
  CIContextProvider,
  DEFAULT_FULCIO_URL,
  DEFAULT_REKOR_URL,
  DSSEBundleBuilder,
  FulcioSigner,
  MessageSignatureBundleBuilder,
  RekorWitness,
  type Signer,
  type Witness,
} from '@sigstore/sign'
import { getTrustedRoot } from '@sigstore/tuf'
import { type TrustMaterial, toSignedEntity, toTrustMaterial, type VerificationPolicy, Verifier } from '@sigstore/verify'
import { generateKeyPairSync, sign } from 'node:crypto'
import type { Statement } from './provenance.ts'

/** Signs, and verifies what it signed. */
export interface Signing {
  /** Key to verify with, as PEM; null if certificates name the signer. */
  readonly publicKey: string | null
  /** Signs bytes, such as a file. */
  signBytes(bytes: Buffer): Promise<SerializedBundle>
  signStatement(statement: Statement): Promise<SerializedBundle>
  /**
   * @param bytes that were signed; absent for a statement, which the bundle contains
   * @throws {Error} if the signature is not by this signer, or of other bytes
   */
  verify(bundle: SerializedBundle, bytes?: Buffer): Promise<void>
}

/** Issuer of the identities of GitHub's workflows. */
export const WORKFLOW_ISSUER = 'https://token.actions.githubusercontent.com'

/**
 * Signs as a workflow of GitHub, without a key: the certificate names the workflow, and a public log lists the signature.
 *
 * @param workflow value of `GITHUB_WORKFLOW_REF`
 */
export function workflowSigning(workflow: string): Signing {
  const signer = new FulcioSigner({ fulcioBaseURL: DEFAULT_FULCIO_URL, identityProvider: new CIContextProvider('sigstore') })
  const policy = { subjectAlternativeName: `https://github.com/${workflow}`, extensions: { issuer: WORKFLOW_ISSUER } }
  let verifier: Promise<Verifier> | null = null
  const ready = (): Promise<Verifier> => (verifier ??= getTrustedRoot().then((root) => new Verifier(toTrustMaterial(root))))
  return { publicKey: null, ...signingOf(signer, [new RekorWitness({ rekorBaseURL: DEFAULT_REKOR_URL })], policy, ready) }
}

/** Signs with a key that exists only in this process, for a dry run: no service is asked, and no log lists the signature. */
export function throwAwaySigning(): Signing {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  // Without a name of the key: cosign compares the name with that of its own key, which is empty.
  const signer: Signer = {
    sign: (data) => Promise.resolve({ signature: sign('sha256', data, privateKey), key: { $case: 'publicKey', publicKey: pem } }),
  }
  const trusted: TrustMaterial = {
    certificateAuthorities: [],
    timestampAuthorities: [],
    tlogs: [],
    ctlogs: [],
    publicKey: () => ({ publicKey, validFor: () => true }),
  }
  const verifier = new Verifier(trusted, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 })
  return { publicKey: pem, ...signingOf(signer, [], undefined, () => Promise.resolve(verifier)) }
}

function signingOf(
  signer: Signer,
  witnesses: Witness[],
  policy: VerificationPolicy | undefined,
  verifier: () => Promise<Verifier>,
): Omit<Signing, 'publicKey'> {
  const ofBytes = new MessageSignatureBundleBuilder({ signer, witnesses })
  const ofStatements = new DSSEBundleBuilder({ signer, witnesses })
  return {
    signBytes: async (bytes) => bundleToJSON(await ofBytes.create({ data: bytes })),
    signStatement: async (statement) => {
      const data = Buffer.from(JSON.stringify(statement))
      return bundleToJSON(await ofStatements.create({ data, type: 'application/vnd.in-toto+json' }))
    },
    verify: async (bundle, bytes) => {
      const entity = toSignedEntity(bundleFromJSON(bundle), bytes)
      const ready = await verifier()
      ready.verify(entity, policy)
    },
  }
}

/** @returns the statement in a bundle; its signature is not verified */
export function statementIn(bundle: SerializedBundle): Statement {
  const payload = bundle.dsseEnvelope?.payload
  if (payload === undefined) throw new Error('the bundle has no statement')
  return JSON.parse(Buffer.from(payload, 'base64').toString()) as Statement
}
