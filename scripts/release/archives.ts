/** Archives of the command line, as krew, Homebrew and users download them. */
import { createHash } from 'node:crypto'
import { fileOf } from '../image/files.ts'
import { layerOf } from '../image/layer.ts'

/** Platforms that an archive can be for, as `OS-ARCHITECTURE`. */
export const archivePlatforms = ['linux-amd64', 'linux-arm64', 'darwin-amd64', 'darwin-arm64'] as const
/** @see archivePlatforms */
export type ArchivePlatform = (typeof archivePlatforms)[number]

/** An archive of one platform. */
export interface CliArchive {
  readonly platform: ArchivePlatform
  /** Name of the file, without a folder. */
  readonly file: string
  /** SHA-256 in hexadecimal digits. */
  readonly sha256: string
}

/** What an archive contains. */
export interface ArchiveContent {
  readonly executable: Buffer
  /** Licences by name of the file, and the bill of materials. */
  readonly texts: Readonly<Record<string, Buffer>>
}

/** @returns an archive that is the same for the same content and time */
export async function packArchive({ executable, texts }: ArchiveContent, created: Date): Promise<Buffer> {
  const files = [fileOf('tranche', executable, 0o755), ...Object.entries(texts).map(([name, text]) => fileOf(name, text))]
  return (await layerOf(files, created)).bytes
}

/** @returns name of the archive of a platform */
export function archiveName(version: string, platform: ArchivePlatform): string {
  return `tranche-${version}-${platform}.tar.gz`
}

/** @returns the platform of an archive with this name; undefined for other files */
export function platformOfArchive(file: string, version: string): ArchivePlatform | undefined {
  return archivePlatforms.find((platform) => archiveName(version, platform) === file)
}

/** @returns SHA-256 in hexadecimal digits */
export function sha256Of(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}
