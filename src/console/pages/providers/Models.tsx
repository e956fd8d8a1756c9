// The models of a provider by location, and warnings of models in use that end.
// Must not know where facts about models come from.
import type { ProviderModel } from "../../../api/admin/ProviderModel.ts"
import type { ProviderRow } from "../../AdminClient.ts"

interface ModelsProps {
  readonly provider: ProviderRow
  readonly rows: ReadonlyArray<ProviderModel>
  /** Models with requests in the last 30 days, as `provider/model`. */
  readonly used: ReadonlySet<string>
}

const placeOf = ({ locations }: ProviderModel): string =>
  locations === undefined
    ? "everywhere"
    : locations.map((one) => (one === "regions" ? "single regions" : one)).join(", ")

/** The id without the word of a family, as requests are counted. */
const countedId = ({ id }: ProviderModel): string => id.replace(/^[a-z]+\./, "")

export const Models = ({ provider: { region, slug }, rows, used }: ModelsProps) => {
  const ending = rows.filter((row) => row.notice !== undefined && used.has(`${slug}/${countedId(row)}`))
  const places = [...Map.groupBy(rows, placeOf)]
  return (
    <>
      {ending.map(({ id, notice }) => (
        <p key={id} class={notice?.kind === "shut_down" ? "bad note" : "warn note"}>
          In use: {notice?.message}
        </p>
      ))}
      <details>
        <summary>{rows.length} models</summary>
        {places.map(([place, models]) => (
          <div key={place}>
            <h3>{place}</h3>
            <ul class="chips">
              {models.map(({ id, is_served_here: isHere, notice }) => (
                <li key={id} class={notice === undefined ? "" : "warn"} title={notice?.message}>
                  {id}
                  {isHere === false ? ` (not in ${region})` : ""}
                </li>
              ))}
            </ul>
          </div>
        ))}
      </details>
    </>
  )
}
