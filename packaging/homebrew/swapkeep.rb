class Swapkeep < Formula
  desc "Wallet's keys and swaps, outside the browser"
  homepage "https://swapkeep.invalid"
  version "{{.Version}}"
  license "Apache-2.0"

{{range $i, $system := .Brews}}{{if $i}}
{{end}}  {{.Block}} do
{{- range .Halves}}
    {{.Block}} do
      url "{{$.URL}}/{{$.File .Platform "tar.gz"}}"
      sha256 "{{$.Sum .Platform "tar.gz"}}"
    end
{{- end}}
  end
{{end}}
  def install
    libexec.install "bin/swapkeep", "bin/swapkeepd"
    bin.install_symlink libexec/"swapkeep"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/swapkeep"
    zsh_completion.install "share/zsh/site-functions/_swapkeep"
    fish_completion.install "share/fish/vendor_completions.d/swapkeep.fish"
    doc.install Dir["share/doc/swapkeep/*"]
  end

  service do
    run [opt_libexec/"swapkeepd"]
  end

  def caveats
    <<~EOS
      Let your browsers find Swapkeep, and look whether they do:
        swapkeep install --detected
        swapkeep doctor
      Browsers start the copy that this makes. Make it anew after every upgrade of this
      formula, or they keep the old one:
        swapkeep install --detected
      Before you remove this formula:
        swapkeep uninstall
    EOS
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/swapkeep version")
  end
end
