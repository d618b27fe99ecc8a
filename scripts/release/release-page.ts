import { type Addresses, chartFolderOf, imageOf, npmNameOf, pageOf } from './addresses.ts'

/** What the page of a version names besides its changes. */
export interface PublishedDigests {
  readonly version: string
  readonly addresses: Addresses
  /** Digest of the image's index. */
  readonly image: string
  readonly chart: string
}

/** @returns text of the version's page: its section of the changelog, with links into the repository, and how to get each part */
export function releasePage(notes: string, { version, addresses, image, chart }: PublishedDigests): string {
  const sources = `${pageOf(addresses)}/blob/v${version}/`
  return `${notes.replaceAll(/\]\((?!https?:|#)/g, `](${sources}`)}

### Get it

| part | address |
|---|---|
| image, amd64 and arm64 | \`${imageOf(addresses)}:${version}@${image}\` |
| chart | \`oci://${chartFolderOf(addresses)}/tranche\`, version ${version}, \`${chart}\` |
| npm package | \`${npmNameOf(addresses)}@${version}\` |
| command line | the archives below |

\`SHA256SUMS\` lists the files, and \`SHA256SUMS.sigstore.json\` is its signature. The page *Install* of the documentation says how to
verify a download.
`
}
