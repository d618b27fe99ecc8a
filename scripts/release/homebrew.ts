import { type Addresses, downloadsOf, pageOf } from './addresses.ts'
import type { ArchivePlatform, CliArchive } from './archives.ts'

const systems = { macos: 'darwin', linux: 'linux' } as const
const processors = { arm: 'arm64', intel: 'amd64' } as const

/**
 * @returns formula of Homebrew, with the digest of each archive; it names only systems that have an archive
 * @see https://docs.brew.sh/Formula-Cookbook
 */
export function homebrewFormula(version: string, archives: readonly CliArchive[], addresses: Addresses): string {
  const blocks = Object.entries(systems).flatMap(([block, system]) => {
    const inside = Object.entries(processors).flatMap(([processor, architecture]) => {
      const archive = archives.find(({ platform }) => platform === (`${system}-${architecture}` satisfies ArchivePlatform))
      return archive === undefined ? [] : [sourceOf(processor, archive, `${downloadsOf(addresses, version)}/${archive.file}`)]
    })
    return inside.length === 0 ? [] : [`  on_${block} do\n${inside.join('\n')}\n  end`]
  })
  return `class Tranche < Formula
  desc "Releases new versions of Kubernetes DaemonSets in batches"
  homepage "${pageOf(addresses)}"
  version "${version}"
  license "Apache-2.0"

${blocks.join('\n\n')}

  def install
    bin.install "tranche"
    bin.install_symlink "tranche" => "kubectl-tranche"
    generate_completions_from_executable(bin/"tranche", "completion", shells: [:bash, :zsh, :fish])
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/tranche version")
  end
end
`
}

function sourceOf(processor: string, { sha256 }: CliArchive, url: string): string {
  return `    on_${processor} do\n      url "${url}"\n      sha256 "${sha256}"\n    end`
}
