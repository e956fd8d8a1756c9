// One number with its name, and its change against the range before.
// Must not know what the number means.

interface TileProps {
  readonly name: string
  readonly value: string
  readonly delta?: string | undefined
}

export const Tile = ({ delta, name, value }: TileProps) => (
  <div class="card tile">
    <dt>{name}</dt>
    <dd>
      <b>{value}</b>
      {delta === undefined ? null : <span title="Against the range before">{delta}</span>}
    </dd>
  </div>
)
