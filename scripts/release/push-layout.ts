/** Copies images and charts between registries and layouts, such as the one that `pnpm build:image` writes. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OciDescriptor, RegistryClient } from './registry-client.ts'

interface ImageIndex {
  readonly manifests: readonly (OciDescriptor & { readonly platform?: { readonly os: string; readonly architecture: string } })[]
}

interface ImageManifest {
  readonly config: OciDescriptor
  readonly layers: readonly OciDescriptor[]
}

/** @returns what a layout names: the index of all architectures, or the manifest of a chart */
export function indexOfLayout(folder: string): OciDescriptor {
  const { manifests } = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as ImageIndex
  const [index] = manifests
  if (index === undefined) throw new Error(`${folder}/index.json names no image`)
  return index
}

/** @returns bytes of a blob in a layout */
export function blobOfLayout(folder: string, digest: string): Buffer {
  return readFileSync(join(folder, 'blobs', digest.replace(':', '/')))
}

/** @returns digests of the layers of an architecture, the lowest first */
export function layersOfLayout(folder: string, architecture: string): readonly string[] {
  const index = JSON.parse(blobOfLayout(folder, indexOfLayout(folder).digest).toString()) as ImageIndex
  const found = index.manifests.find(({ platform }) => platform?.architecture === architecture)
  if (found === undefined) throw new Error(`${folder} has no image for ${architecture}`)
  return (JSON.parse(blobOfLayout(folder, found.digest).toString()) as ImageManifest).layers.map(({ digest }) => digest)
}

/**
 * Pushes what a layout names, with everything below it, by digest: no tag shows it yet. What the registry has is not sent again.
 *
 * @returns reference to it
 */
export async function pushLayout(folder: string, registry: RegistryClient): Promise<OciDescriptor> {
  const { mediaType, digest, size } = indexOfLayout(folder)
  await pushTree(folder, registry, { mediaType, digest, size })
  return { mediaType, digest, size }
}

/** A manifest may be pushed only after what it names. */
async function pushTree(folder: string, registry: RegistryClient, { mediaType, digest }: OciDescriptor): Promise<void> {
  const bytes = blobOfLayout(folder, digest)
  const { manifests, config, layers = [] } = JSON.parse(bytes.toString()) as Partial<ImageIndex & ImageManifest>
  for (const one of manifests ?? []) await pushTree(folder, registry, one)
  for (const blob of config === undefined ? [] : [config, ...layers]) await registry.putBlob(blob.digest, blobOfLayout(folder, blob.digest))
  await registry.putManifest(digest, mediaType, bytes)
}

/** Keeps one manifest of a registry, such as that of a chart, with its blobs as a layout. */
export async function keepAsLayout(folder: string, registry: RegistryClient, tag: string): Promise<OciDescriptor> {
  const manifest = await registry.manifest(tag)
  if (manifest === null) throw new Error(`no manifest ${tag}`)
  const { config, layers } = JSON.parse(manifest.bytes.toString()) as ImageManifest
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'blobs/sha256'), { recursive: true })
  const keep = (digest: string, bytes: Buffer): void => writeFileSync(join(folder, 'blobs', digest.replace(':', '/')), bytes)
  keep(manifest.digest, manifest.bytes)
  for (const { digest } of [config, ...layers]) keep(digest, await registry.blob(digest))
  const descriptor = { mediaType: manifest.mediaType, digest: manifest.digest, size: manifest.bytes.length }
  writeFileSync(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  writeFileSync(join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [descriptor] }))
  return descriptor
}

/**
 * Gives an image a tag. The image must be there by digest.
 *
 * @throws {Error} if the tag is another image's
 */
export async function tagImage(registry: RegistryClient, tag: string, digest: string): Promise<void> {
  const [image, tagged] = [await registry.manifest(digest), await registry.manifest(tag)]
  if (image === null) throw new Error(`no image ${digest} to tag with ${tag}`)
  if (tagged !== null && tagged.digest !== digest)
    throw new Error(`tag ${tag} is another image, ${tagged.digest}; a published version is never replaced, release the next one`)
  if (tagged === null) await registry.putManifest(tag, image.mediaType, image.bytes)
}

/**
 * Pulls every manifest, configuration and layer of an image, and compares their digests.
 *
 * @returns platforms of the image
 */
export async function pullImage(registry: RegistryClient, digest: string): Promise<readonly string[]> {
  const index = await registry.manifest(digest)
  if (index === null) throw new Error(`no image ${digest}`)
  const platforms: string[] = []
  for (const { digest: one, platform } of (JSON.parse(index.bytes.toString()) as ImageIndex).manifests) {
    const manifest = await registry.manifest(one)
    if (manifest === null) throw new Error(`no manifest ${one} of ${digest}`)
    const { config, layers } = JSON.parse(manifest.bytes.toString()) as ImageManifest
    for (const blob of [config, ...layers]) await registry.blob(blob.digest)
    platforms.push(`${platform?.os}/${platform?.architecture}`)
  }
  return platforms
}
