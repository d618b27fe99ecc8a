/** Signatures beside an image or chart in its registry, where cosign looks for them. */
import type { SerializedBundle } from '@sigstore/bundle'
import { digestOf } from '../image/layer.ts'
import type { OciDescriptor, RegistryClient } from './registry-client.ts'

/** A bundle with a statement, and what the statement says. */
export interface AttachedBundle {
  readonly predicateType: string
  readonly bundle: SerializedBundle
}

interface ReferrerIndex {
  readonly schemaVersion: 2
  readonly mediaType: string
  readonly manifests: readonly (OciDescriptor & {
    readonly artifactType?: string
    readonly annotations?: Readonly<Record<string, string>>
  })[]
}

const INDEX = 'application/vnd.oci.image.index.v1+json'
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
const BUNDLE = 'application/vnd.dev.sigstore.bundle.v0.3+json'
const EMPTY = Buffer.from('{}')
const PREDICATE = 'dev.sigstore.bundle.predicateType'

/** Attaches a bundle unless one with the same predicate type is there. @returns whether it was attached */
export async function attachBundle(
  registry: RegistryClient,
  subject: OciDescriptor,
  { predicateType, bundle }: AttachedBundle,
): Promise<boolean> {
  const existing = await referrersOf(registry, subject.digest)
  if (existing.manifests.some(({ annotations }) => annotations?.[PREDICATE] === predicateType)) return false
  const content = Buffer.from(JSON.stringify(bundle))
  const annotations = { 'dev.sigstore.bundle.content': 'dsse-envelope', [PREDICATE]: predicateType }
  const [config, layer] = [descriptorOf('application/vnd.oci.empty.v1+json', EMPTY), descriptorOf(BUNDLE, content)]
  for (const [{ digest }, bytes] of [
    [config, EMPTY],
    [layer, content],
  ] as const)
    await registry.putBlob(digest, bytes)
  const { mediaType, digest, size } = subject
  const manifest = {
    schemaVersion: 2,
    mediaType: MANIFEST,
    artifactType: BUNDLE,
    config,
    layers: [layer],
    subject: { mediaType, digest, size },
    annotations,
  }
  const bytes = Buffer.from(JSON.stringify(manifest))
  const stored = descriptorOf(MANIFEST, bytes)
  const isListed = await registry.putManifest(stored.digest, MANIFEST, bytes)
  if (!isListed) {
    const manifests = [...existing.manifests, { ...stored, artifactType: BUNDLE, annotations }]
    await registry.putManifest(tagOfReferrers(digest), INDEX, Buffer.from(JSON.stringify({ ...existing, manifests })))
  }
  return true
}

/** @returns every bundle that is attached to a digest */
export async function attachedBundles(registry: RegistryClient, digest: string): Promise<readonly AttachedBundle[]> {
  const { manifests } = await referrersOf(registry, digest)
  const bundles: AttachedBundle[] = []
  for (const { digest: one, artifactType, annotations } of manifests) {
    if (artifactType !== BUNDLE) continue
    const manifest = await registry.manifest(one)
    const { layers } = JSON.parse(manifest?.bytes.toString() ?? '{"layers":[]}') as { readonly layers: readonly OciDescriptor[] }
    for (const layer of layers) {
      const bundle = JSON.parse((await registry.blob(layer.digest)).toString()) as SerializedBundle
      bundles.push({ predicateType: annotations?.[PREDICATE] ?? '', bundle })
    }
  }
  return bundles
}

/** A registry without the API for referrers has them as an index under a tag, which clients keep. */
async function referrersOf(registry: RegistryClient, digest: string): Promise<ReferrerIndex> {
  const kept = await registry.referrers(digest)
  const bytes = kept ?? (await registry.manifest(tagOfReferrers(digest)))?.bytes
  return bytes === undefined ? { schemaVersion: 2, mediaType: INDEX, manifests: [] } : (JSON.parse(bytes.toString()) as ReferrerIndex)
}

function tagOfReferrers(digest: string): string {
  return digest.replace(':', '-')
}

function descriptorOf(mediaType: string, bytes: Buffer): OciDescriptor {
  return { mediaType, digest: digestOf(bytes), size: bytes.length }
}
