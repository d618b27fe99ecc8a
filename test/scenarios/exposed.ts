/** One time series in Prometheus text format, at one moment. */
export interface Series {
  /** Ends in `_bucket`, `_sum` or `_count` if it is part of a histogram. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Parsed metrics of a program. */
export interface Exposed {
  readonly all: readonly Series[]
  samples(name: string): readonly Series[]
  /** @returns the value of the one series with exactly these labels; NaN if there is none */
  value(name: string, labels: Readonly<Record<string, string>>): number
}

/** Parses the Prometheus text format, as far as Tranche writes it. */
export function exposed(text: string): Exposed {
  const all = [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = '', labels = '', value = '']) => ({
    name,
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, word]) => [label, word])),
    value: Number(value.replace('Inf', 'Infinity')),
  }))
  const samples = (name: string): readonly Series[] => all.filter((one) => one.name === name)
  return {
    all,
    samples,
    value(name, labels) {
      const text = wordOf(labels)
      return samples(name).find((one) => wordOf(one.labels) === text)?.value ?? Number.NaN
    },
  }
}

function wordOf(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))
}
