/** Images as files: the layout of the Open Container Initiative, which every container engine reads. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { digestOf, type Layer } from './layer.ts'

/** Architectures of the image. */
export const architectures = ['amd64', 'arm64'] as const
/** @see architectures */
export type Architecture = (typeof architectures)[number]

/** @throws {Error} for any other text */
export function architectureOf(text: string): Architecture {
  const found = architectures.find((one) => one === text)
  if (found === undefined) throw new Error(`--architecture is ${JSON.stringify(text)}: give ${architectures.join(' or ')}`)
  return found
}

/** The image of one architecture. */
export interface PlatformImage {
  readonly architecture: Architecture
  readonly layers: readonly Layer[]
}

/** What the images of all architectures have in common. */
export interface ImageSettings {
  readonly created: Date
  /** Labels of the image, which are annotations of its index too. */
  readonly labels: Readonly<Record<string, string>>
  readonly user: string
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  /** Name and tag under which an engine loads it, such as `tranche:0.1.0`. */
  readonly name: string
}

/** Reference to a blob. */
interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
const INDEX = 'application/vnd.oci.image.index.v1+json'

/**
 * Writes the layout into a folder, which is replaced.
 *
 * @returns digest of the index, by which the image of all architectures is pulled
 * @see https://github.com/opencontainers/image-spec/blob/main/image-layout.md
 */
export function writeLayout(folder: string, images: readonly PlatformImage[], settings: ImageSettings): string {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'blobs/sha256'), { recursive: true })
  const put = (mediaType: string, bytes: Buffer): Descriptor => {
    const digest = digestOf(bytes)
    writeFileSync(join(folder, 'blobs', digest.replace(':', '/')), bytes)
    return { mediaType, digest, size: bytes.length }
  }
  const manifests = images.map((image) => {
    const layers = image.layers.map(({ bytes }) => put('application/vnd.oci.image.layer.v1.tar+gzip', bytes))
    const config = put('application/vnd.oci.image.config.v1+json', json(configOf(image, settings)))
    const manifest = put(MANIFEST, json({ schemaVersion: 2, mediaType: MANIFEST, config, layers, annotations: settings.labels }))
    return { ...manifest, platform: { architecture: image.architecture, os: 'linux' } }
  })
  const index = put(INDEX, json({ schemaVersion: 2, mediaType: INDEX, manifests, annotations: settings.labels }))
  writeFileSync(join(folder, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }))
  const annotations = { 'org.opencontainers.image.ref.name': tagOf(settings.name), 'io.containerd.image.name': settings.name }
  writeFileSync(join(folder, 'index.json'), json({ schemaVersion: 2, mediaType: INDEX, manifests: [{ ...index, annotations }] }))
  return index.digest
}

/** The tag of an image's name; the address of its registry may have a port. */
function tagOf(name: string): string {
  return /:([^:/]+)$/.exec(name)?.[1] ?? 'latest'
}

function configOf({ architecture, layers }: PlatformImage, { created, labels, user, entrypoint, command }: ImageSettings): object {
  return {
    created: created.toISOString(),
    architecture,
    os: 'linux',
    config: {
      User: user,
      Env: ['PATH=/usr/local/bin:/usr/bin'],
      Entrypoint: entrypoint,
      Cmd: command,
      WorkingDir: '/',
      Labels: labels,
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(() => ({ created: created.toISOString(), created_by: 'pnpm build:image' })),
  }
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value))
}
