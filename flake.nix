# The package, its program, a shell to work in and the checks, for Nix.
{
  description = "An OpenAI-compatible gateway in front of Vertex AI and the Gemini Developer API";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      inherit (nixpkgs) lib;
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      forEach = build: lib.genAttrs systems (system: build nixpkgs.legacyPackages.${system});

      package = lib.importJSON ./package.json;

      # The lockfile carries integrity hashes but no addresses; Nix wants both.
      withAddress = path: entry:
        let
          name = entry.name or (lib.last (lib.splitString "node_modules/" path));
          file = lib.last (lib.splitString "/" name);
        in
        if entry ? integrity && !(entry ? resolved)
        then entry // { resolved = "https://registry.npmjs.org/${name}/-/${file}-${entry.version}.tgz"; }
        else entry;
      lock = lib.importJSON ./package-lock.json;
      packageLock = lock // { packages = lib.mapAttrs withAddress lock.packages; };

      gateway = pkgs: pkgs.buildNpmPackage {
        pname = package.name;
        inherit (package) version;
        src = lib.cleanSource ./.;
        nodejs = pkgs.nodejs_24;
        npmDeps = pkgs.importNpmLock { inherit package packageLock; };
        npmConfigHook = pkgs.importNpmLock.npmConfigHook;
        # The `node` package would fetch a Node of its own; here Node comes from Nix.
        npmFlags = [ "--ignore-scripts" ];
        meta = {
          inherit (package) description;
          license = lib.licenses.mit;
          mainProgram = "model-gateway";
        };
      };
    in
    {
      packages = forEach (pkgs: { default = gateway pkgs; });

      apps = forEach (pkgs: {
        default = {
          type = "app";
          program = lib.getExe self.packages.${pkgs.stdenv.hostPlatform.system}.default;
        };
      });

      devShells = forEach (pkgs: {
        default = pkgs.mkShell { packages = [ pkgs.nodejs_24 pkgs.postgresql pkgs.redis ]; };
      });

      checks = forEach (pkgs: {
        default = (gateway pkgs).overrideAttrs {
          doCheck = true;
          checkPhase = ''
            runHook preCheck
            npm run check
            npm test
            runHook postCheck
          '';
        };
      });
    };
}
